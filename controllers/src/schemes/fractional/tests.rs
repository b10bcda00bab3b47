mod combined;
mod fractional;
