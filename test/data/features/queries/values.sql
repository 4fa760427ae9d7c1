values (1, 'a', date '2020-02-29'), (2, null, null)
