//! Watches the cards of a host.

mod mtml;

pub use mtml::{Library, Status};

/// The hottest card above a limit.
pub fn hottest(library: &Library, mut limit: i32) -> Result<Option<u32>, Status> {
    let mut found = None;
    for index in 0..library.count()? {
        let degrees = library.temperature(index)?;
        if degrees > limit {
            limit = degrees;
            found = Some(index);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mtml::simulator;

    /// In one test: the machine belongs to the process, and cargo runs tests in threads.
    #[test]
    fn hottest_card() {
        {
            let library = Library::open().unwrap();
            assert_eq!(hottest(&library, 90), Ok(None));
            simulator::set(5, "gpu_temperature", "97");
            simulator::set(7, "gpu_temperature", "95");
            assert_eq!(hottest(&library, 90), Ok(Some(5)));
            simulator::set(2, "lost", "DRIVER_FAILURE");
            assert_eq!(hottest(&library, 90), Err(2));
            simulator::heal(2);
            assert_eq!(hottest(&library, 90), Ok(Some(5)));
        }
        assert_eq!(simulator::references(), 0);
    }
}
