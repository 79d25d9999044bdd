// Prints one line for each pattern: 1 or 0 for each sample, or the reason why the pattern does not compile.
package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	lines := strings.Split(string(text), "\n")
	samples := decode(lines[1])
	for _, pattern := range decode(lines[0]) {
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, sample := range samples {
			if compiled.MatchString(sample) {
				fmt.Print("1")
			} else {
				fmt.Print("0")
			}
		}
		fmt.Println()
	}
}

func decode(line string) []string {
	words := []string{}
	for _, word := range strings.Fields(line) {
		bytes, err := base64.StdEncoding.DecodeString(word)
		if err != nil {
			panic(err)
		}
		words = append(words, string(bytes))
	}
	return words
}
