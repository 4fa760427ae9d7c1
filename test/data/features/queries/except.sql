select a, b from t except select n, 'x' from u
