package data

import (
	"context"
	"fmt"
	"strings"
)

var mnist = source{
	Info: Info{
		Name: "mnist", Title: "MNIST", Text: "MNIST, handwritten digits, 28x28 grey (LeCun, Cortes, Burges)",
		Terms:      "by Y. LeCun, C. Cortes and C. Burges; Creative Commons Attribution-ShareAlike 3.0, according to the documentation of Keras",
		Classes:    []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
		Shape:      Shape{28, 28, 1},
		Characters: true,
	},
	standIn: "symbols",
	folders: []string{"mnist", "", "MNIST/raw"},
	load:    loadMNIST,
	downloads: idxDownloads(
		[4]int64{9912422, 28881, 1648877, 4542},
		[4]string{
			"440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
			"3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
			"8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
			"f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
		},
		"http://yann.lecun.com/exdb/mnist/",
		"https://ossci-datasets.s3.amazonaws.com/mnist/",
		"https://storage.googleapis.com/cvdf-datasets/mnist/"),
	files: map[string]string{
		"train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
		"train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
		"t10k-images-idx3-ubyte":  "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
		"t10k-labels-idx1-ubyte":  "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
	},
	byClass: map[int]string{
		0: "0bb1494cb630607fa89cce2910cfb95d54f91d607b27c042a94072b2ad9bc32c",
		1: "57c0f90563b7f0fad37b63405e2ef79f3995627481dac7ca76efd6f2c694e78f",
		2: "2b3029da52b07bf49d5ff933821979e6a100d5a4e13a5d110466f1b04e8579c8",
		3: "a35a5c35495a7197ee1e4bf195cb6baae40761c0a5a003c061d54d6b02639c3f",
		4: "2b0ff6ed0908a5dd6865ee44df641b27aa278c1e22e9ef38a86848880622a707",
		5: "450f58b9eb6b520a0dc0767bba5ce933573c69961076e964635bd46757ede5de",
		6: "37dfbc7e122fc84f7d21a7066c2900317749767e3ee0c658b124e3f34181842c",
		7: "432b146250408eb988b27ad9fc18c4c94d70d74eb470644c468a459967deaa7f",
		8: "204ce4ee5654a006fbf9716699717e5e9957bf72943f066ba2e633da96427dc6",
		9: "4a4497bc0bc3a201aa4ae79d435ab042e06d5d2779785e8b03e5ecc6d5303b9d",
	},
}

var fashionMNIST = source{
	Info: Info{
		Name: "fashion-mnist", Title: "Fashion-MNIST", Text: "Fashion-MNIST, clothes, 28x28 grey (Xiao, Rasul, Vollgraf)",
		Terms:   "by H. Xiao, K. Rasul and R. Vollgraf; MIT licence, copyright 2017 Zalando SE",
		Classes: []string{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"},
		Shape:   Shape{28, 28, 1},
	},
	standIn: "symbols",
	folders: []string{"fashion-mnist", "", "FashionMNIST/raw"},
	load:    loadMNIST,
	downloads: idxDownloads(
		[4]int64{26421880, 29515, 4422102, 5148},
		[4]string{
			"3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
			"a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
			"346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
			"67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
		},
		"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
		"https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/"),
	files: map[string]string{
		"train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
		"train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
		"t10k-images-idx3-ubyte":  "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
		"t10k-labels-idx1-ubyte":  "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
	},
	byClass: map[int]string{
		0: "f0d1437d7e11f8cd66905390af6a8e69b8bfb1335afb68d763714792bb4da660",
		1: "d21f5e817f438d7884b4167e6ca89597fe43a4745a05860aa0dcda7dae34c989",
		2: "119c2a0eb4b91967662a5fc7ea1e6ffd8b1435367513faecd3b31c5a9ab39629",
		3: "9747fa20b2e2160268785f0078b0131309b14cb171b549870a0eed4e94cd38df",
		4: "d658d3a322a34ffb578d42228505fbe6e35dcfde43e06755d86b7d7cd2ef9579",
		5: "0fede0a6f0a6123003c2efce6d0809b194181f529e981b19b5b3c37f42a95e1e",
		6: "af470e515330b4c40ffac002de2594c96432d14ead5e81ad55aad091bcbe338d",
		7: "59e090073aa2ffdb70548c22fa1949e5741cf6bd4b78774714c8d8a921e3e374",
		8: "4262335be72a77e8be8eee1f7c2559c07d7da185aa6f3d2d6d7116a553e6157f",
		9: "28fa87c530e09f54f76df63e1820bed424189e3094c9fe0318eca2a47263a3f0",
	},
}

// mnistFiles lists the files of images and labels, training then test.
var mnistFiles = [4]string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}

// loadMNIST reads the four idx files in dir.
func loadMNIST(ctx context.Context, s *source, dir string) (*Set, error) {
	var paths [4]string
	for i, name := range mnistFiles {
		dotted := strings.Replace(name, "-idx", ".idx", 1) // as some unpackers rename it
		if paths[i] = first(dir, name+".gz", name, dotted+".gz", dotted); paths[i] == "" {
			return nil, errAbsent
		}
	}
	set, sums := s.set(paths[:]), map[string]string{}
	for i, split := range []*Split{&set.Train, &set.Test} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		images, labels := paths[2*i], paths[2*i+1]
		var size Shape
		var err error
		if *split, size, err = loadIDX(images, labels, len(s.Classes), sums); err != nil {
			return nil, err
		}
		if size != s.Shape {
			return nil, at(images, fmt.Errorf("%w: %s, expected %s", ErrShape, size.text(), s.text()))
		}
	}
	for i, name := range mnistFiles {
		set.Verified = set.Verified && sums[paths[i]] == s.files[name]
	}
	return set, nil
}

// idxDownloads returns the downloads of the four idx files, each from all addresses.
func idxDownloads(size [4]int64, sha [4]string, urls ...string) []download {
	var list []download
	for i, name := range mnistFiles {
		d := download{name: name + ".gz", size: size[i], sha: sha[i]}
		for _, u := range urls {
			d.urls = append(d.urls, u+d.name)
		}
		list = append(list, d)
	}
	return list
}
