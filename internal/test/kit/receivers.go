package kit

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// CheckReceivers calls every exported method of the package in this directory, with zero
// arguments, on zero values, nil pointers and, where the type is a number, its largest: none
// panics. values are one of each type with methods; a type that is missing is an error.
func CheckReceivers(t *testing.T, values ...any) {
	t.Helper()
	var called []string
	for _, value := range values {
		named := reflect.TypeOf(value)
		zero := reflect.New(named)
		receivers := []reflect.Value{zero}
		if zero.Elem().CanUint() {
			largest := reflect.New(named)
			largest.Elem().SetUint(math.MaxUint64 >> (64 - named.Bits()))
			receivers = append(receivers, largest)
		}
		receivers = append(receivers, reflect.Zero(zero.Type()))
		for _, receiver := range receivers {
			for i := range receiver.NumMethod() {
				method := receiver.Type().Method(i).Name
				name := named.Name() + "." + method
				called = append(called, name)
				if _, ofValue := named.MethodByName(method); ofValue && receiver.IsNil() {
					continue // the caller's dereference, not the method, would panic
				}
				callWithZeros(t, name, receiver.Method(i))
			}
		}
	}
	for _, name := range ExportedFunctions(t, ".") {
		if strings.Contains(name, ".") && !slices.Contains(called, name) {
			t.Errorf("%s is a method of none of the values", name)
		}
	}
}

func callWithZeros(t *testing.T, name string, method reflect.Value) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s panics: %v", name, r)
		}
	}()
	var arguments []reflect.Value
	for i := range method.Type().NumIn() {
		arguments = append(arguments, reflect.Zero(method.Type().In(i)))
	}
	if method.Type().IsVariadic() {
		method.CallSlice(arguments)
		return
	}
	method.Call(arguments)
}
