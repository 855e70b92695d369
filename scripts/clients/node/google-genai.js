import { ApiError, FunctionCallingConfigMode, GoogleGenAI, Type } from '@google/genai'

const client = new GoogleGenAI({
  apiKey: process.env.TROUPE_KEY,
  httpOptions: { baseUrl: process.env.TROUPE_URL },
})
const model = 'simulated-1'
const check = (holds, what) => {
  if (!holds) throw new Error(what)
}

const whole = await client.models.generateContent({
  model,
  contents: 'Hello',
  config: { systemInstruction: 'Be brief.', temperature: 0.5, maxOutputTokens: 200 },
})
check(whole.text === 'You said: Hello', `another text: ${whole.text}`)
check(whole.usageMetadata.totalTokenCount > 0 && whole.candidates[0].finishReason === 'STOP', 'no usage, or no end')

const weather = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
}
const config = {
  tools: [{ functionDeclarations: [weather] }],
  toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
}
const chat = client.chats.create({ model, config })
const called = await chat.sendMessage({ message: 'Please use get_weather in Lagos' })
const [call] = called.functionCalls
check(call.name === 'get_weather' && call.args.city === 'Lagos', `another call: ${JSON.stringify(call)}`)
const functionResponse = { id: call.id, name: call.name, response: { output: 'sunny in Lagos' } }
let text = ''
for await (const part of await chat.sendMessageStream({ message: [{ functionResponse }] })) text += part.text ?? ''
check(text.includes('sunny in Lagos'), `the answer has no result: ${text}`)

const contents = [{ role: 'user', parts: [{ text: 'Please use get_weather in Oslo' }] }]
const calls = []
for await (const part of await client.models.generateContentStream({ model, contents, config }))
  calls.push(...(part.functionCalls ?? []))
check(calls.length === 1 && calls[0].args.city === 'Oslo', `streamed calls: ${JSON.stringify(calls)}`)

check((await client.models.countTokens({ model, contents })).totalTokens > 0, 'no tokens are counted')
const names = []
for await (const { name } of await client.models.list()) names.push(name)
check(names.includes(`models/${model}`), 'not listed')
check((await client.models.get({ model })).supportedActions.includes('generateContent'), 'no methods')
const { embeddings } = await client.models.embedContent({ model, contents: ['one', 'two'] })
check(embeddings.length === 2 && embeddings[0].values.length > 1, 'no vectors')

const refused = await client.models
  .generateContent({ model: 'no-such-model', contents: 'Hello' })
  .catch((error) => error)
check(refused instanceof ApiError && refused.status === 404, `no ApiError: ${refused}`)
