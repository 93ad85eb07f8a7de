# make && make install   builds and installs it, like any extension
# make test, make demo     bring what they need, and touch neither the system's server nor its files
EXTENSION = fencing
MODULE_big = fencing

TOP := $(dir $(lastword $(MAKEFILE_LIST)))
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(TOP)$(EXTENSION).control)
SOURCES := $(patsubst $(TOP)%,%,$(sort $(wildcard $(TOP)src/*.c)))
UPGRADES := $(patsubst $(TOP)%,%,$(sort $(wildcard $(TOP)sql/$(EXTENSION)--*--*.sql)))

OBJS = $(SOURCES:.c=.o)
DATA = sql/$(EXTENSION)--$(EXTVERSION).sql $(UPGRADES)
# No warning of unused parameters: callbacks have the signatures that the server gives them.
PG_CFLAGS = -Wall -Wextra -Werror -Wno-unused-parameter
PG_CPPFLAGS = -isystem $(includedir_server)

REGRESS = $(filter-out $(EXTENSION)--%,$(sort $(basename $(notdir $(wildcard $(TOP)sql/*.sql)))))
REGRESS_OPTS = --load-extension=$(EXTENSION)
ISOLATION = $(sort $(basename $(notdir $(wildcard $(TOP)test/specs/*.spec))))
ISOLATION_OPTS = --inputdir=test --load-extension=$(EXTENSION)
EXTRA_CLEAN = build

PG_CONFIG = pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifneq ($(wildcard $(PGXS)),)
include $(PGXS)

# In another directory than this one, look here for the sources alone, not for what was built.
VPATH =
vpath %.c $(srcdir)
vpath %.sql $(srcdir)
vpath %.control $(srcdir)

$(OBJS) $(OBJS:.o=.bc): $(wildcard $(TOP)src/*.h)

# A private copy of the server with this build in it, its assertions on: the programs are
# copied, for they look for the rest relative to themselves; the rest is linked.
# BUILD=release: without assertions, for the benchmark.
BUILD = stage
STAGE := $(CURDIR)/build/$(BUILD)
OBJDIR := $(CURDIR)/build/obj-$(BUILD)$(bindir)
ASSERTIONS = $(if $(filter stage,$(BUILD)),-DUSE_ASSERT_CHECKING=1)
MIRROR = rm -rf $(STAGE)$(1) && mkdir -p $(STAGE)$(1) && cp -$(2) $(1)/. $(STAGE)$(1)

stage:
	@cmp -s $(bindir)/postgres $(STAGE)$(bindir)/postgres || { \
		$(call MIRROR,$(pkglibdir),rs) && $(call MIRROR,$(datadir),rs) && \
		$(call MIRROR,$(bindir),rL); }
	@mkdir -p $(OBJDIR)/src
	@$(MAKE) -s -C $(OBJDIR) -f $(CURDIR)/Makefile install DESTDIR=$(STAGE) \
		with_llvm=no COPT=$(ASSERTIONS) >/dev/null
else
all install stage:
	@echo "$(PG_CONFIG) names no PGXS: install postgresql-server-dev-NN, or set PG_CONFIG" >&2
	@false
endif

# T names the suites to run, as in make test T="regress isolation"
test:
	@test/run $(T)

demo:
	@test/demo/run

# QUICK=1 takes two minutes and leaves doc as it is. ROUNDS=N, instead of 5; RESOURCES=N is how far
# the number of resources grows, instead of a million.
bench:
	@ROUNDS=$(or $(ROUNDS),5) test/bench/run $(if $(QUICK),quick,full) $(RESOURCES)

format:
	clang-format -i $(TOP)src/*.[ch]

.PHONY: all install stage test demo bench format
