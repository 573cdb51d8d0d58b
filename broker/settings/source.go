package settings

import (
	"fmt"
	"strings"

	"github.com/magiconair/properties"
)

// Sets returns the settings of NAME=VALUE arguments. Of two with one name the later wins.
//
// Errors: an argument without "=" or without a name.
func Sets(args []string) (Source, error) {
	src := Source{Name: "--set", Values: map[string]string{}}
	for _, arg := range args {
		name, text, found := strings.Cut(arg, "=")
		name = strings.TrimSpace(name)
		if !found || name == "" {
			return Source{}, fmt.Errorf("--set takes name=value, for example --set num.partitions=3, and not %q", arg)
		}
		src.Values[name] = text
	}
	return src, nil
}

// Environment returns the settings among variables of the form NAME=VALUE: those that begin with KAFKA_, with the names
// that the official container image gives them. In what follows the prefix "___" stands for "-", "__" for "_" and "_"
// for ".", in lower case. An empty variable counts as unset, for that is what compose files make of a missing one.
//
// Source: KafkaDockerWrapper.scala
func Environment(environ []string) Source {
	src := Source{Name: "environment", Values: map[string]string{}, Spelled: map[string]string{}}
	underscores := strings.NewReplacer("___", "-", "__", "_", "_", ".")
	for _, variable := range environ {
		key, text, _ := strings.Cut(variable, "=")
		rest, ours := strings.CutPrefix(key, "KAFKA_")
		if !ours || rest == "" || text == "" {
			continue
		}
		name := strings.ToLower(underscores.Replace(rest))
		src.Values[name] = text
		src.Spelled[name] = key
	}
	return src
}

// File returns the settings of a Java properties file. Values are taken as they are written: "${...}" is not expanded.
// Of two lines with one name the later wins.
//
// Errors: the file cannot be read, or is not a properties file.
func File(path string) (Source, error) {
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	read, err := loader.LoadFile(path)
	if err != nil {
		return Source{}, fmt.Errorf("settings file %q: %w; give -f a readable properties file", path, err)
	}
	return Source{Name: path, Values: read.Map()}, nil
}
