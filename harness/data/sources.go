package data

// idxDownloads are the four idx files, under each of the addresses.
func idxDownloads(size [4]int64, sha, md5 [4]string, urls ...string) []download {
	var list []download
	for i, name := range mnistFiles {
		d := download{name: name + ".gz", size: size[i], sha: sha[i], md5: md5[i]}
		for _, u := range urls {
			d.urls = append(d.urls, u+d.name)
		}
		list = append(list, d)
	}
	return list
}

// sources are the published datasets. The original addresses stand first in each
// list; mirrors are trusted no further than the checksums.
var sources = []source{
	{
		name: "mnist", text: "MNIST, handwritten digits, 28x28 grey (LeCun, Cortes, Burges)",
		standIn: "glyphs",
		classes: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
		h:       28, w: 28, ch: 1, train: 60000, test: 10000,
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
			[4]string{
				"f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
				"9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c",
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
	},
	{
		name: "fashion-mnist", text: "Fashion-MNIST, clothes, 28x28 grey (Xiao, Rasul, Vollgraf)",
		standIn: "garments",
		classes: []string{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"},
		h:       28, w: 28, ch: 1, train: 60000, test: 10000,
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
			[4]string{
				"8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe",
				"bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310",
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
	},
	{
		name: "cifar-10", text: "CIFAR-10, photographs of things and animals, 32x32 colour (Krizhevsky)",
		standIn: "vehicles",
		classes: []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
		h:       32, w: 32, ch: 3, train: 50000, test: 10000,
		folders: []string{"cifar-10", "", "cifar-10/cifar-10-batches-bin", "cifar-10-batches-bin"},
		load:    loadCIFAR,
		downloads: []download{{
			name: cifarArchive, size: 170052171,
			sha: "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
			md5: "c32a1d4ab5d03f1284b67883e8d87530",
			urls: []string{
				"https://www.cs.toronto.edu/~kriz/" + cifarArchive,
				"https://cave.cs.toronto.edu/kriz/" + cifarArchive,
				"https://mindspore-website.obs.cn-north-4.myhuaweicloud.com/notebook/datasets/" + cifarArchive,
			},
		}},
		files: map[string]string{
			"data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
			"data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
			"data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
			"data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
			"data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
			"test_batch.bin":   "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
		},
		byClass: map[int]string{
			0: "6cc4a017b63a60bd4de7bb18521eefa9f999efb08bc7b9f7a77e5d982979c829",
			1: "ae17e5fae6caaf1389c8f3e929ea88a26869d97bbb4744fb3b50000f19d6a14c",
		},
	},
}
