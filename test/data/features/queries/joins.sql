select t.a, u.n from t left join u on t.a = u.n or t.i > u.n where exists (select 1 from r where k > t.a) limit 3 offset 1
