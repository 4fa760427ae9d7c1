select b, i, grouping(b, i) as g, grouping(i) as h, sum(a) as x, count(*) as n
from t group by grouping sets ((b, i), (i), ()) having grouping(b) = 1
