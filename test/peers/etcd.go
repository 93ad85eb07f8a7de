// etcd URL setup
// etcd URL acquire_release|renew|refused CLIENTS SECONDS: operations a second, 50th and 99th percentile in ms
// etcd URL handover TIMES: from the release sent to the lock had, 50th and 99th percentile in ms
package main

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

const names = 10000

var (
	url        = os.Args[1]
	background = context.Background()
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func dial() *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, DialTimeout: 5 * time.Second})
	check(err)
	return client
}

func grant(client *clientv3.Client) clientv3.LeaseID {
	lease, err := client.Grant(background, 36000)
	check(err)
	return lease.ID
}

// Creates the key under the lease, unless it is there.
func take(client *clientv3.Client, key string, lease clientv3.LeaseID) bool {
	reply, err := client.Txn(background).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "w", clientv3.WithLease(lease))).Commit()
	check(err)
	return reply.Succeeded
}

func percentiles(ms []float64) (float64, float64) {
	sort.Float64s(ms)
	return ms[len(ms)/2], ms[len(ms)*99/100]
}

func setUp() {
	var wait sync.WaitGroup
	for i := 0; i < 16; i++ {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			client := dial()
			defer client.Close()
			for k := i; k < names; k += 16 {
				_, err := client.Put(background, fmt.Sprintf("held/%d", k), "me", clientv3.WithLease(grant(client)))
				check(err)
			}
		}(i)
	}
	wait.Wait()
	_, err := dial().Put(background, "hot", "other")
	check(err)
}

func handover(times int) {
	var mutex [2]*concurrency.Mutex
	for i := range mutex {
		session, err := concurrency.NewSession(dial())
		check(err)
		mutex[i] = concurrency.NewMutex(session, "/handover")
	}
	var ms []float64
	for i := 0; i < times; i++ {
		check(mutex[0].Lock(background))
		had := make(chan time.Time)
		go func() {
			check(mutex[1].Lock(background))
			at := time.Now()
			check(mutex[1].Unlock(background))
			had <- at
		}()
		time.Sleep(time.Duration(60+rand.Intn(60)) * time.Millisecond)
		sent := time.Now()
		check(mutex[0].Unlock(background))
		ms = append(ms, (<-had).Sub(sent).Seconds()*1e3)
	}
	p50, p99 := percentiles(ms)
	fmt.Printf("%.4f %.4f\n", p50, p99)
}

func heldLeases(client *clientv3.Client) []clientv3.LeaseID {
	leases := make([]clientv3.LeaseID, names)
	reply, err := client.Get(background, "held/", clientv3.WithPrefix())
	check(err)
	for _, pair := range reply.Kvs {
		k, err := strconv.Atoi(string(pair.Key[len("held/"):]))
		check(err)
		leases[k] = clientv3.LeaseID(pair.Lease)
	}
	return leases
}

func measure(operation string, clients int, seconds float64) {
	var (
		mutex sync.Mutex
		wait  sync.WaitGroup
		ms    []float64
		rate  float64
		wrong int
		held  []clientv3.LeaseID
	)
	connections := make([]*clientv3.Client, clients)
	own := make([]clientv3.LeaseID, clients)
	for i := range connections {
		connections[i] = dial()
		own[i] = grant(connections[i])
	}
	if operation == "renew" {
		held = heldLeases(connections[0])
	}
	for i := range connections {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			random := rand.New(rand.NewSource(int64(i) + time.Now().UnixNano()))
			client := connections[i]
			var latencies []float64
			bad := 0
			start := time.Now()
			before := start
			for before.Sub(start).Seconds() < seconds {
				k := random.Intn(names/clients)*clients + i
				switch operation {
				case "acquire_release":
					key := "free/" + strconv.Itoa(k)
					if !take(client, key, grant(client)) {
						bad++
					}
					_, err := client.Delete(background, key)
					check(err)
				case "renew":
					_, err := client.KeepAliveOnce(background, held[k])
					check(err)
				case "refused":
					if take(client, "hot", own[i]) {
						bad++
					}
				}
				after := time.Now()
				latencies = append(latencies, after.Sub(before).Seconds()*1e3)
				before = after
			}
			mutex.Lock()
			defer mutex.Unlock()
			rate += float64(len(latencies)) / before.Sub(start).Seconds()
			ms = append(ms, latencies...)
			wrong += bad
		}(i)
	}
	wait.Wait()
	p50, p99 := percentiles(ms)
	fmt.Printf("%.1f %.4f %.4f\n", rate, p50, p99)
	if wrong > 0 {
		fmt.Fprintln(os.Stderr, wrong, "answers are wrong")
		os.Exit(1)
	}
}

func main() {
	switch operation := os.Args[2]; operation {
	case "setup":
		setUp()
	case "handover":
		times, err := strconv.Atoi(os.Args[3])
		check(err)
		handover(times)
	default:
		clients, err := strconv.Atoi(os.Args[3])
		check(err)
		seconds, err := strconv.ParseFloat(os.Args[4], 64)
		check(err)
		measure(operation, clients, seconds)
	}
}
