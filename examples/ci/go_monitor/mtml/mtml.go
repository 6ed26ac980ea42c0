// Package mtml binds what the monitor needs of libmtml.so.2.
package mtml

// #cgo LDFLAGS: -lmtml
// #include <stdlib.h>
// #include <mtml_2.2.0.h>
// #include <mtml_sim.h>
import "C"

import (
	"fmt"
	"unsafe"
)

// Library is the initialized library.
type Library struct{ pointer *C.MtmlLibrary }

func check(status C.MtmlReturn) error {
	if status == C.MTML_SUCCESS {
		return nil
	}
	return fmt.Errorf("MTML: %s (%d)", C.GoString(C.mtmlErrorString(status)), int(status))
}

// Open initializes the library.
func Open() (*Library, error) {
	library := &Library{}
	if err := check(C.mtmlLibraryInit(&library.pointer)); err != nil {
		return nil, err
	}
	return library, nil
}

// Close shuts it down.
func (library *Library) Close() error {
	return check(C.mtmlLibraryShutDown(library.pointer))
}

// Count is the number of cards.
func (library *Library) Count() (int, error) {
	var count C.uint
	err := check(C.mtmlLibraryCountDevice(library.pointer, &count))
	return int(count), err
}

// Temperature of a card in degrees Celsius.
func (library *Library) Temperature(index int) (int, error) {
	var device *C.MtmlDevice
	var gpu *C.MtmlGpu
	var degrees C.int
	if err := check(C.mtmlLibraryInitDeviceByIndex(library.pointer, C.uint(index), &device)); err != nil {
		return 0, err
	}
	if err := check(C.mtmlDeviceInitGpu(device, &gpu)); err != nil {
		return 0, err
	}
	err := check(C.mtmlGpuGetTemperature(gpu, &degrees))
	return int(degrees), err
}

// SimSet changes a value of the simulated machine. Test files may not use cgo, so it stands here.
func SimSet(card uint, key, value string) error {
	k, v := C.CString(key), C.CString(value)
	defer C.free(unsafe.Pointer(k))
	defer C.free(unsafe.Pointer(v))
	if C.mtmlSimSet(C.uint(card), k, v) != 0 {
		return fmt.Errorf("the simulator refuses %d.%s = %s", card, key, value)
	}
	return nil
}

// SimHeal ends what makes calls on a card fail.
func SimHeal(card uint) { C.mtmlSimHeal(C.uint(card)) }

// SimReferences is the number of inits without their shutdown.
func SimReferences() int { return int(C.mtmlSimGetLibraryReferences()) }
