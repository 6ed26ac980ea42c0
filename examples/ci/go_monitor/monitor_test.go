package monitor

import (
	"testing"

	"example.com/monitor/mtml"
)

func hottest(t *testing.T, wanted int) {
	t.Helper()
	index, err := Hottest(90)
	if err != nil || index != wanted {
		t.Fatalf("Hottest(90) = %d, %v; want %d", index, err, wanted)
	}
	if open := mtml.SimReferences(); open != 0 {
		t.Fatalf("%d references are open", open)
	}
}

func TestHottest(t *testing.T) {
	hottest(t, -1)
	if err := mtml.SimSet(5, "gpu_temperature", "97"); err != nil {
		t.Fatal(err)
	}
	hottest(t, 5)
}

func TestLostCard(t *testing.T) {
	if err := mtml.SimSet(2, "lost", "DRIVER_FAILURE"); err != nil {
		t.Fatal(err)
	}
	if _, err := Hottest(90); err == nil {
		t.Fatal("a card is lost, and nobody says so")
	}
	mtml.SimHeal(2)
	if _, err := Hottest(90); err != nil || mtml.SimReferences() != 0 {
		t.Fatal(err)
	}
}
