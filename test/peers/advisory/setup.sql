-- They need no objects.
SELECT 1;
