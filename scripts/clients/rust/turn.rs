//! async-openai: a chat, a stream, tools with a second turn, responses, embeddings, models, speech, and the fields of
//! refusals.

use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::types::responses::{OutputItem, ResponseStreamEvent};
use async_openai::Client;
use futures::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::{json, Value};
use std::env::var;

const MODEL: &str = "simulated-1";

fn of<T: DeserializeOwned>(request: Value) -> T {
    serde_json::from_value(request).expect("the request is of the SDK's type")
}

fn refused<T>(answer: Result<T, OpenAIError>, status: u16, param: Option<&str>, code: &str) {
    match answer {
        Err(OpenAIError::ApiError(refusal)) => {
            let error = &refusal.api_error;
            let holds = refusal.status_code.as_u16() == status && error.param.as_deref() == param && error.code.as_deref() == Some(code);
            assert!(holds && error.r#type.is_some(), "another refusal than {status} {code}: {refusal:?}");
        }
        Err(other) => panic!("no typed refusal: {other:?}"),
        Ok(_) => panic!("not refused: {param:?}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let base = format!("{}/v1", var("TROUPE_URL").unwrap());
    // the organisation header identifies this as an SDK for OpenAI: only those get OpenAI's errors for speech
    let config = OpenAIConfig::new().with_api_base(base).with_org_id("troupe");
    let client = Client::with_config(config.clone().with_api_key(var("TROUPE_KEY").unwrap()));
    let stranger = Client::with_config(config.with_api_key("csk_unknown"));

    let asking = |text: &str| json!({ "model": MODEL, "messages": [{ "role": "user", "content": text }] });
    let with = |mut request: Value, field: &str, value: Value| {
        request[field] = value;
        request
    };
    let answer = client.chat().create(of(asking("Hello"))).await.expect("a chat");
    assert_eq!(answer.choices[0].message.content.as_deref(), Some("You said: Hello"));

    let streamed = with(with(asking("Hello"), "stream", json!(true)), "stream_options", json!({ "include_usage": true }));
    let mut stream = client.chat().create_stream(of(streamed)).await.expect("a stream");
    let (mut text, mut used) = (String::new(), 0);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.expect("a chunk");
        used += chunk.usage.map_or(0, |usage| usage.total_tokens);
        text.extend(chunk.choices.into_iter().filter_map(|choice| choice.delta.content));
    }
    assert!(text == "You said: Hello" && used > 0, "another stream: {text} {used}");

    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let tools = json!([{ "type": "function", "function": { "name": "get_weather", "parameters": parameters } }]);
    let asked = with(asking("Please use get_weather in Lagos"), "tools", tools);
    let mut calls = client.chat().create_stream(of(with(asked.clone(), "stream", json!(true)))).await.expect("a streamed call");
    let mut arguments = String::new();
    while let Some(chunk) = calls.next().await {
        for call in chunk.expect("a chunk of a call").choices.into_iter().flat_map(|choice| choice.delta.tool_calls.unwrap_or_default()) {
            arguments += &call.function.and_then(|function| function.arguments).unwrap_or_default();
        }
    }
    assert!(arguments.contains("city"), "another streamed call: {arguments}");
    let called = client.chat().create(of(asked.clone())).await.expect("a call");
    let message = serde_json::to_value(&called.choices[0].message).unwrap();
    let mut second = asked;
    let result = json!({ "role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "sunny in Lagos" });
    second["messages"].as_array_mut().unwrap().extend([message, result]);
    let last = client.chat().create(of(second)).await.expect("a second turn");
    assert!(last.choices[0].message.content.as_deref().unwrap_or_default().contains("sunny in Lagos"), "{last:?}");

    refused(stranger.chat().create(of(asking("Hello"))).await, 401, None, "authentication_required");
    refused(client.chat().create(of(with(asking("Hello"), "model", json!("no-such-model")))).await, 404, Some("model"), "model_not_found");
    let hot = with(asking("Hello"), "temperature", json!(9.0));
    refused(client.chat().create(of(hot.clone())).await, 400, Some("temperature"), "invalid_field");
    refused(client.chat().create_stream(of(with(hot, "stream", json!(true)))).await, 400, Some("temperature"), "invalid_field");

    let listed = client.models().list().await.expect("models");
    assert!(listed.data.iter().any(|model| model.id == MODEL), "the model is not listed");
    assert_eq!(client.models().retrieve(MODEL).await.expect("a model").id, MODEL);
    refused(client.models().retrieve("no-such-model").await, 404, Some("model"), "model_not_found");

    let texts = json!({ "model": MODEL, "input": ["one", "two"] });
    let vectors = client.embeddings().create(of(texts.clone())).await.expect("embeddings");
    assert!(vectors.data.len() == 2 && !vectors.data[0].embedding.is_empty());
    let packed = client.embeddings().create_base64(of(with(texts, "encoding_format", json!("base64")))).await.expect("packed embeddings");
    assert_eq!(packed.data.len(), 2);
    refused(client.embeddings().create(of(json!({ "model": MODEL, "input": "" }))).await, 400, Some("input"), "invalid_field");

    let saying = |text: &str| json!({ "model": MODEL, "input": text });
    let first = client.responses().create(of(saying("Remember 42"))).await.expect("a response");
    let next = client.responses().create(of(with(saying("And?"), "previous_response_id", json!(first.id)))).await.expect("a next response");
    assert!(next.previous_response_id.as_ref() == Some(&first.id) && next.output_text().is_some(), "{next:?}");
    let mut events = client.responses().create_stream(of(with(saying("Hello"), "stream", json!(true)))).await.expect("a stream of a response");
    let (mut text, mut completed) = (String::new(), None);
    while let Some(event) = events.next().await {
        match event.expect("an event of a response") {
            ResponseStreamEvent::ResponseOutputTextDelta(event) => text += &event.delta,
            ResponseStreamEvent::ResponseCompleted(event) => completed = event.response.output_text(),
            _ => {}
        }
    }
    assert!(!text.is_empty() && completed.as_ref() == Some(&text), "another stream of a response: {text} {completed:?}");
    let tools = json!([{ "type": "function", "name": "get_weather", "parameters": parameters, "strict": false }]);
    let needed = client.responses().create(of(with(saying("Please use get_weather in Lagos"), "tools", tools.clone()))).await.expect("a response with a call");
    let call = needed.output.iter().find_map(|item| if let OutputItem::FunctionCall(call) = item { Some(call) } else { None }).expect("a call");
    let outputs = json!({
        "model": MODEL, "tools": tools, "previous_response_id": needed.id,
        "input": [{ "type": "function_call_output", "call_id": call.call_id, "output": "sunny in Lagos" }]
    });
    let done = client.responses().create(of(outputs)).await.expect("a second turn of responses");
    assert!(done.output_text().unwrap_or_default().contains("sunny in Lagos"), "{done:?}");
    assert_eq!(client.responses().retrieve(&first.id).await.expect("a kept response").id, first.id);
    assert_eq!(client.responses().list_input_items(&first.id).await.expect("its input").data.len(), 1);
    assert!(client.responses().delete(&first.id).await.expect("a deletion").deleted);
    refused(client.responses().retrieve(&first.id).await, 404, Some("response_id"), "not_found");
    refused(client.responses().create(of(with(saying("Hello"), "temperature", json!(9.0)))).await, 400, Some("temperature"), "invalid_field");

    let spoken = json!({ "model": "simulated-tts", "voice": "alloy", "input": "Hello" });
    let speech = client.audio().speech().create(of(spoken.clone())).await.expect("speech");
    assert!(speech.bytes.len() > 1000);
    refused(client.audio().speech().create(of(with(spoken, "input", json!("")))).await, 400, Some("input"), "invalid_field");
    println!("ok");
}
