import OpenAI from 'openai'
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'

const client = new OpenAI({ baseURL: `${process.env.TROUPE_URL}/v1`, apiKey: process.env.TROUPE_KEY })
const model = 'simulated-1'
const check = (holds, what) => {
  if (!holds) throw new Error(what)
}

const weather = zodFunction({
  name: 'get_weather',
  parameters: z.object({ city: z.string() }),
  function: ({ city }) => `sunny in ${city}`,
})
const messages = [{ role: 'user', content: 'Please use get_weather in Lagos' }]
const runner = client.chat.completions.runTools({ model, messages, tools: [weather] })
check((await runner.finalContent())?.includes('sunny in Lagos'), 'the tool runner has no result of its tool')

const format = zodResponseFormat(z.object({ city: z.string(), days: z.number().int().positive() }), 'plan')
const ask = [{ role: 'user', content: 'A plan for 3 days in Paris' }]
const parsed = await client.chat.completions.parse({ model, messages: ask, response_format: format })
check(parsed.choices[0].message.parsed?.days === 3, 'the parsed answer is another one')

let streamed = ''
for await (const chunk of await client.chat.completions.create({ model, messages: ask, stream: true }))
  streamed += chunk.choices[0]?.delta.content ?? ''
check(streamed !== '', 'a stream has no text')
const { data: vectors } = await client.embeddings.create({ model, input: ['one', 'two'] })
check(vectors.length === 2 && vectors[0].embedding.length > 1, 'no vectors')
const uploaded = await client.files.create({ file: new File(['one line'], 'a.txt'), purpose: 'user_data' })
check((await (await client.files.content(uploaded.id)).text()) === 'one line', 'the file has another content')
await client.files.delete(uploaded.id)

const response = await client.responses.create({ model, input: 'Remember 42' })
const next = await client.responses.create({ model, input: 'And?', previous_response_id: response.id })
check(next.previous_response_id === response.id && next.output_text !== '', 'the response does not go on')

const wrong = await client.chat.completions.create({ model, messages: ask, temperature: 9 }).catch((error) => error)
check(wrong instanceof OpenAI.BadRequestError && wrong.param === 'temperature', `no BadRequestError: ${wrong}`)
check(
  (await client.models.list()).data.some(({ id }) => id === model),
  'the model is not listed',
)
const speech = await client.audio.speech.create({ model: 'simulated-tts', voice: 'verse', input: 'Hello' })
check((await speech.arrayBuffer()).byteLength > 1000, 'no audio')
