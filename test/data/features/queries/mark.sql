select a from t where exists (select 1 from u where u.n = t.a) or z
