select extract(month from x), -a, a % 2, coalesce(a, 1), substring(b from 2), cast(d as double), a is distinct from i,
       case when b like 'x!_%' escape '!' then 1 end, d / 3, b is not null, a in (1, 2, 3, null, 5, 6)
from t order by a + i desc nulls last limit 5 offset 2
