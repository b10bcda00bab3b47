mod dca_c;
mod dca_s;
mod dual;
