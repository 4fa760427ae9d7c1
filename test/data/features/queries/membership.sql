select a in (select n from u), a not in (select n from u where n > t.i), (a, i) in (select n, n from u), a > all (select n from u) from t
