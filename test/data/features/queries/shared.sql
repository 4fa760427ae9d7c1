with c as (select a, i from t where z) select x.a from c x join c y on x.a = y.i and x.i < y.a
