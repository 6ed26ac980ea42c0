// Package monitor watches the cards of a host.
package monitor

import "example.com/monitor/mtml"

// Hottest is the hottest card above a limit, -1 for none.
func Hottest(limit int) (int, error) {
	library, err := mtml.Open()
	if err != nil {
		return -1, err
	}
	defer library.Close()
	count, err := library.Count()
	if err != nil {
		return -1, err
	}
	hottest := -1
	for index := 0; index < count; index++ {
		degrees, err := library.Temperature(index)
		if err != nil {
			return -1, err
		}
		if degrees > limit {
			hottest, limit = index, degrees
		}
	}
	return hottest, nil
}
