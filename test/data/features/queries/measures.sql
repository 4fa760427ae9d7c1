select s, sum(a), avg(d), stddev(f), bool_and(z), sum(distinct i), count(1) filter (where a > 1), any_value(b) from t group by s
