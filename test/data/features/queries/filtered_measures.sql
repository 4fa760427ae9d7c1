select s, sum(a) filter (where a > 3), count(*) filter (where z), count(*), count(distinct b), avg(f)
from t group by s
