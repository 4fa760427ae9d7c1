select t.a, r.k from t full join r on t.a + 1 = r.k * 2
