//! `serve`: its answers.

use serde_json::{Value, json};

use crate::support::{Browser, Connection, NER_CORPUS, POS_CORPUS, Server, TestDir, post, serve};

/// Lines of raw text.
const LINES: [&str; 4] = [
    "Ann Lee left Rome .",
    "The bank of York closed . Bob met Ann in New York .",
    "Zoë Müller 🎉 met  O'Brien at 9:30.\tShe left. \"Why?\"",
    "qq Zz qq",
];

/// The response with these sentences, as lines of JSON.
fn response(lines: &str) -> String {
    let lines: Vec<&str> = lines.lines().collect();
    format!("{{\"version\":1,\"model\":\"m\",\"sentences\":[{}]}}\n", lines.join(","))
}

/// A response with these sentences for each input.
fn list_response<'a>(results: impl IntoIterator<Item = &'a str>) -> String {
    let result = |lines: &str| {
        let lines: Vec<&str> = lines.lines().collect();
        format!("{{\"sentences\":[{}]}}", lines.join(","))
    };
    let results: Vec<String> = results.into_iter().map(result).collect();
    format!("{{\"version\":1,\"model\":\"m\",\"results\":[{}]}}\n", results.join(","))
}

#[test]
fn a_text_has_the_answer_of_tag_byte_for_byte() {
    let dir = TestDir::with_model(NER_CORPUS, "--columns word,pos,ner --template ner");
    let server = Server::start(&dir, "m");
    for (query, options) in [
        ("", ""),
        ("?marginals=true", "--marginals"),
        ("?nbest=3&constrain=false", "--nbest 3 --constrain off"),
        ("?scheme=bioes&model=m", "--scheme bioes"),
    ] {
        let command = format!("tag m --format text --output jsonl {options}");
        let tagged = LINES.map(|line| dir.run_with_stdin(&command, line).success());
        for (line, tagged) in LINES.iter().zip(&tagged) {
            let body = json!({"text": line}).to_string();
            let answer = server.post(&format!("/tag{query}"), &body).success();
            assert_eq!(answer, response(tagged), "{query} {line}");
        }
        let body = json!({"texts": LINES}).to_string();
        let answer = server.post(&format!("/tag{query}"), &body).success();
        assert_eq!(answer, list_response(tagged.iter().map(String::as_str)));
    }
}

#[test]
fn inputs_have_the_answers_of_tag_byte_for_byte() {
    let dir = TestDir::with_model(POS_CORPUS, "--template pos");
    let server = Server::start(&dir, "m");
    let object = |line: &str| {
        let tokens: Vec<&str> = line.split_whitespace().collect();
        json!({"id": 1.50, "tokens": tokens, "meta": {"a": ["b"]}}).to_string()
    };
    let mut lines = LINES.map(object).to_vec();
    lines.push(json!({"n": null, "text": "One sentence. Another one.\nAnd more."}).to_string());
    let tagged = dir.run_with_stdin("tag m --format jsonl --marginals", lines.join("\n")).success();
    let body = format!("{{\"inputs\":\r\n [{}\n]\n}}", lines.join(",\n"));
    let answer = server.post("/tag?marginals", &body).success();
    let (most, last) =
        tagged.split_at(tagged.match_indices('\n').nth(lines.len() - 2).unwrap().0 + 1);
    assert!(last.lines().count() >= 2);
    assert_eq!(answer, list_response(most.lines().chain([last])));
    let answer = server.post("/tag?marginals", &lines[0].replace(',', " ,\n ")).success();
    assert_eq!(answer, response(tagged.lines().next().unwrap()));
}

#[test]
fn rows_have_the_answer_of_tag_for_columns() {
    let dir = TestDir::with_model(NER_CORPUS, "--columns word,pos,ner --template minimal");
    dir.write("t.tpl", "word\npos\npos[-1]\n");
    dir.run("train train.conll --columns word,pos,ner --template t.tpl --model m --quiet")
        .success();
    dir.write("two.conll", "Bob NNP\nleft VBD\nYork NNP\n");
    dir.write("three.conll", "Bob NNP O\nleft VBD O\nYork NNP O\n");
    let server = Server::start(&dir, "m");
    let two = json!({"rows": [["Bob", "NNP"], ["left", "VBD"], ["York", "NNP"]]});
    let three = json!({"rows": [["Bob", "NNP", "O"], ["left", "VBD", "O"], ["York", "NNP", "O"]]});
    let swapped = json!({
        "rows": [["NNP", "Bob"], ["VBD", "left"], ["NNP", "York"]], "columns": ["pos", "word"],
    });
    for (body, file) in [(two, "two.conll"), (three, "three.conll"), (swapped, "two.conll")] {
        let tagged = dir.run(&format!("tag m {file} --columns word,pos,ner --output jsonl"));
        let tagged = match file {
            "two.conll" => dir.run("tag m two.conll --output jsonl"),
            _ => tagged,
        };
        let answer = server.post("/tag", &body.to_string()).success();
        assert_eq!(answer, response(&tagged.success()), "{body}");
    }
    let keyed = json!({"id": 7, "rows": [["Bob", "NNP"]]}).to_string();
    let answer = server.post("/tag", &keyed).json();
    assert_eq!(answer["sentences"][0]["id"], 7);
    assert_eq!(answer["sentences"][0]["tokens"], json!(["Bob"]));
    assert!(answer["sentences"][0].get("rows").is_none());
    assert_eq!(server.post("/tag", "{\"rows\": []}").success(), response(""));
    // A template that reads a column needs it.
    let message = server.post("/tag", &json!({"tokens": ["Bob"]}).to_string()).error(422);
    assert!(message.contains("pos"), "{message}");
}

#[test]
fn inputs_are_documents_of_their_own_unless_they_say_otherwise() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    dir.write("t.tpl", "word\nothers(word[-1])\nothers(word[1])\n");
    dir.run("train train.conll --template t.tpl --l2 0.01 --model m --quiet").success();
    let server = Server::start(&dir, "m");
    let [a, b] = ["Ann Lee left Rome .", "Ann closed York and met Rome ."];
    let tagged =
        |input: &str| dir.run_with_stdin("tag m --format jsonl --marginals", input).success();
    let alone: Vec<String> = [a, b].map(|t| tagged(&json!({"text": t}).to_string())).into();
    let document = json!({"doc": [{"text": a}, {"text": b}]}).to_string();
    let together = tagged(&document);
    let labels = |text: &str| -> Vec<Value> {
        let marginals = |line| serde_json::from_str::<Value>(line).unwrap()["marginals"].take();
        text.lines().map(marginals).collect()
    };
    assert_ne!(labels(&together), labels(&alone.concat()), "the document has no effect");
    let answer = server.post("/tag?marginals", &json!({"texts": [a, b]}).to_string());
    assert_eq!(answer.success(), list_response(alone.iter().map(String::as_str)));
    let answer = server.post("/tag?marginals", &document);
    assert_eq!(answer.success(), response(&together));
    let same = [json!({"doc": 1, "text": a}), json!({"doc": 1, "text": b})];
    let tagged_same = tagged(&format!("{}\n{}\n", same[0], same[1]));
    assert_eq!(labels(&tagged_same), labels(&together));
    let answer = server.post("/tag?marginals", &json!({"inputs": same}).to_string());
    assert_eq!(answer.success(), list_response(tagged_same.lines()));
}

#[test]
fn known_labels_are_kept_as_by_tag() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let line = json!({"tokens": ["Ann", "left"], "gold": ["B-LOC", null]}).to_string();
    let tagged = dir.run_with_stdin("tag m --format jsonl --forced gold --marginals", &line);
    let server = Server::start(&dir, "m");
    let answer = server.post("/tag?forced=gold&marginals", &line);
    assert_eq!(answer.success(), response(&tagged.success()));
    assert_eq!(answer.labels()[0][0], "B-LOC");
}

#[test]
fn models_are_chosen_by_name_and_the_first_is_the_default() {
    let dir = TestDir::with_model(NER_CORPUS, "--columns word,pos,ner --template minimal");
    dir.write("pos.conll", POS_CORPUS);
    dir.run("train pos.conll --template minimal --model pos.model --l2 0.01 --quiet").success();
    let server = Server::start(&dir, "names=m pos.model");
    let body = json!({"tokens": ["Ann", "Lee", "left"]}).to_string();
    let names = server.post("/tag", &body);
    assert_eq!(names.labels(), [json!(["B-PER", "I-PER", "O"])]);
    assert_eq!(names.json()["model"], "names");
    assert_eq!(names.json()["version"], 1);
    let span = json!([{"token_start": 0, "token_end": 2, "type": "PER"}]);
    assert_eq!(names.json()["sentences"][0]["spans"], span);
    let tags = server.post("/tag?model=pos", &body);
    assert_eq!(tags.labels(), [json!(["NNP", "NNP", "VBD"])]);
    assert_eq!(tags.json()["model"], "pos");
    assert!(tags.json()["sentences"][0].get("spans").is_none());
    let message = server.post("/tag?model=x", &body).error(404);
    assert_eq!(message, "no model \"x\"; the models are names, pos");
    let models = server.get("/models").json()["models"].take();
    assert_eq!((&models[0]["name"], &models[0]["default"]), (&json!("names"), &json!(true)));
    assert_eq!(models[0]["columns"], json!(["word", "pos", "ner"]));
    assert_eq!(models[0]["spans"], true);
    assert_eq!(models[1]["labels"], json!(["NNP", "VBD", ".", "DT", "NN", "IN"]));
    assert_eq!((&models[1]["default"], &models[1]["label"]), (&json!(false), &json!("label")));
}

#[test]
fn a_head_request_has_the_headers_of_the_answer_alone() {
    let (_dir, server) = serve("");
    let mut connection = server.connect();
    let head = "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    connection.send(head);
    let mut text = String::new();
    connection.read_to_end(&mut text);
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert!(text.ends_with("\r\n\r\n"), "{text}");
}

#[test]
fn hosts_origins_and_sentences_are_limited_by_options() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let options = "--allow-host tag.example --allow-origin https://a.example --max-sentence 3";
    let server = Server::start(&dir, &format!("m {options}"));
    let send = |headers: &str| {
        let mut connection = server.connect();
        connection.send(format!("GET /models HTTP/1.1\r\n{headers}\r\n\r\n"));
        connection.response()
    };
    assert_eq!(
        ["tag.example", "evil.example"].map(|h| send(&format!("Host: {h}")).status),
        [200, 403]
    );
    let allowed = send("Host: localhost\r\nOrigin: https://a.example");
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://a.example"));
    let message = server.post("/tag", &json!({"tokens": vec!["a"; 4]}).to_string()).error(422);
    assert!(message.contains("has more than 3 tokens"), "{message}");
}

#[test]
fn labels_are_explained_as_by_the_program() {
    let (dir, server) = serve("");
    let answer = server.post("/explain", "{\"text\": \"Ann left Rome.\"}").success();
    let line = dir.run_with_stdin("explain m --output json --top 8", "Ann left Rome.\n");
    let line = line.success();
    assert_eq!(
        answer,
        format!("{{\"version\":1,\"model\":\"m\",\"sentences\":[{}]}}\n", line.trim())
    );
    let known = "{\"tokens\": [\"Ann\", \"left\"], \"known\": [\"B-LOC\", null]}";
    let answer = server.post("/explain?forced=known", known).json();
    let sentence = &answer["sentences"][0];
    assert_eq!(sentence["labels"][0], "B-LOC");
    assert_eq!(sentence["explanations"][0].get("margin"), None);
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let (_dir, server) = serve("");
    let page = server.get("/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    let text = page.success();
    assert!(!text.contains("http:") && !text.contains("https:"), "{text}");
    assert!(text.contains("prefers-color-scheme: dark"));
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn the_page_marks_names_in_a_browser() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let dir = TestDir::with_sample_corpus();
    let train = "train train.conll --columns word,upos,ner --template ner --max-iterations 20";
    dir.run(&format!("{train} --model m --quiet")).success();
    let server = Server::start(&dir, "m");
    let url = format!("http://{}/", server.address);
    let (dom, log) = browser.dump(&url, &dir.path("profile"), false);
    let text = "Ada Lovelace met Charles Babbage in London.";
    for part in [
        "Ada Lovelace<b>&nbsp;PER",
        "<option value=\"m\">m</option>",
        &format!("'{{\"text\":\"{text}\"}}' {url}tag<"),
        "<title>m – dropchain</title>",
        "<b>m</b><span> · LOC MISC ORG PER · trained on train.conll",
    ] {
        assert!(dom.contains(part), "{part} in {dom}\n{log}");
    }
    assert!(!log.contains("CONSOLE"), "{log}");
}

#[test]
fn a_connection_serves_many_requests_in_order() {
    let (_dir, server) = serve("");
    let mut connection = server.connect();
    let bodies = [["Rome"], ["left"], ["Ann"], ["closed"]].map(|tokens| json!({"tokens": tokens}));
    let requests = bodies.iter().map(|body| post("/tag", &body.to_string()));
    // All at once: pipelined.
    connection.send(requests.collect::<String>());
    for expected in ["B-LOC", "O", "B-PER", "O"] {
        assert_eq!(connection.response().labels(), [json!([expected])]);
    }
    connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(connection.response().json()["status"], "ok");
}

#[test]
fn two_servers_do_not_share_a_port() {
    let (dir, server) = serve("");
    let message = dir.run(&format!("serve m --listen {}", server.address)).failure();
    assert!(message.starts_with(&format!("{}: Address already in use", server.address)));
    assert!(Connection::open(server.address).is_ok());
}
