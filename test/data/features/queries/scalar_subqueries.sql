select (select k from r where k = t.a), (select max(n) from u where n < t.i), (select n from u) from t
