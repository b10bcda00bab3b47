//! The controllers, one file each.

pub mod reno;
