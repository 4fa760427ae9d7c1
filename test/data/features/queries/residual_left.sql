select t.a, u.n, t.a as again from t left join u on t.a = u.n and t.i > u.n
