select starts_with(b, 'foo_'), contains(b, '%'), b ilike 'A%', concat(b, 'x'), b || 'x', trim(b), length(b), f // 2, cast(a as boolean),
       greatest(a, i), nullif(a, 1), round(d, 1), x - date '2020-01-01', x + interval 1 month, year(x), isodow(x), error('no')
from t where a < 0
