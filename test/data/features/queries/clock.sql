select a from t where x < current_date
