//! What the monitor needs of libmtml.so.2.

use std::os::raw::{c_int, c_uint, c_void};
use std::ptr::null_mut;

pub type Status = c_int;

#[link(name = "mtml")]
extern "C" {
    fn mtmlLibraryInit(library: *mut *mut c_void) -> Status;
    fn mtmlLibraryShutDown(library: *mut c_void) -> Status;
    fn mtmlLibraryCountDevice(library: *const c_void, count: *mut c_uint) -> Status;
    fn mtmlLibraryInitDeviceByIndex(library: *const c_void, index: c_uint, device: *mut *mut c_void) -> Status;
    fn mtmlDeviceInitGpu(device: *const c_void, gpu: *mut *mut c_void) -> Status;
    fn mtmlGpuGetTemperature(gpu: *const c_void, degrees: *mut c_int) -> Status;
}

fn check(status: Status) -> Result<(), Status> {
    if status == 0 {
        Ok(())
    } else {
        Err(status)
    }
}

/// The initialized library; dropping it shuts it down.
pub struct Library(*mut c_void);

impl Library {
    pub fn open() -> Result<Library, Status> {
        let mut pointer = null_mut();
        check(unsafe { mtmlLibraryInit(&mut pointer) })?;
        Ok(Library(pointer))
    }

    pub fn count(&self) -> Result<u32, Status> {
        let mut count = 0;
        check(unsafe { mtmlLibraryCountDevice(self.0, &mut count) })?;
        Ok(count)
    }

    /// Degrees Celsius.
    pub fn temperature(&self, index: u32) -> Result<i32, Status> {
        let (mut device, mut gpu, mut degrees) = (null_mut(), null_mut(), 0);
        unsafe {
            check(mtmlLibraryInitDeviceByIndex(self.0, index, &mut device))?;
            check(mtmlDeviceInitGpu(device, &mut gpu))?;
            check(mtmlGpuGetTemperature(gpu, &mut degrees))?;
        }
        Ok(degrees)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        unsafe { mtmlLibraryShutDown(self.0) };
    }
}

/// The simulator's own functions, which the real library has not.
#[cfg(test)]
pub mod simulator {
    use std::ffi::CString;
    use std::os::raw::{c_char, c_int, c_uint};

    extern "C" {
        fn mtmlSimSet(card: c_uint, key: *const c_char, value: *const c_char) -> c_int;
        fn mtmlSimHeal(card: c_uint) -> c_int;
        fn mtmlSimGetLibraryReferences() -> c_uint;
    }

    pub fn set(card: u32, key: &str, value: &str) {
        let (name, text) = (CString::new(key).unwrap(), CString::new(value).unwrap());
        assert_eq!(unsafe { mtmlSimSet(card, name.as_ptr(), text.as_ptr()) }, 0);
    }

    pub fn heal(card: u32) {
        assert_eq!(unsafe { mtmlSimHeal(card) }, 0);
    }

    pub fn references() -> u32 {
        unsafe { mtmlSimGetLibraryReferences() }
    }
}
