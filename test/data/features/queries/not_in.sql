select a from t where a not in (select n from u)
