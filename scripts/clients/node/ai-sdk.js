import { createOpenAI } from '@ai-sdk/openai'
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

/*
 * The AI SDK uses the Responses API by default: from the second turn on it refers to earlier items (`item_reference`).
 */
const openai = createOpenAI({ baseURL: `${process.env.TROUPE_URL}/v1`, apiKey: process.env.TROUPE_KEY })
const model = openai('simulated-1')

const messages = [{ role: 'user', content: 'Say one' }]
const first = await generateText({ model, messages })
messages.push(...first.response.messages, { role: 'user', content: 'Say two' })
const second = await generateText({ model, messages })
if (first.text === '' || second.text === '') throw new Error('a turn has no text')

const tools = {
  get_weather: tool({
    description: 'The weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `sunny in ${city}`,
  }),
}
const answered = await generateText({
  model,
  tools,
  prompt: 'Please use get_weather in Lagos',
  stopWhen: stepCountIs(3),
})
if (!answered.text.includes('sunny')) throw new Error(`the tool's result is not in the answer: ${answered.text}`)

let streamed = ''
for await (const part of streamText({ model, prompt: 'hello' }).textStream) streamed += part
if (streamed === '') throw new Error('a stream has no text')

/* A streamed tool call with its second step, and an object with a schema, on each of OpenAI's two APIs. */
for (const each of [model, openai.chat('simulated-1')]) {
  const result = streamText({ model: each, tools, prompt: 'Please use get_weather in Lagos', stopWhen: stepCountIs(3) })
  let said = ''
  for await (const part of result.textStream) said += part
  if (!said.includes('sunny in Lagos')) throw new Error(`a streamed tool's result is not in the answer: ${said}`)
  const schema = z.object({ city: z.string(), days: z.number().int(), stops: z.array(z.object({ name: z.string() })) })
  const { object } = await generateObject({ model: each, schema, prompt: 'A plan for 3 days in Paris' })
  if (object.days !== 3) throw new Error(`another object: ${JSON.stringify(object)}`)
}
