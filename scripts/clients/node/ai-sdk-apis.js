import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

/*
 * The AI SDK on three APIs: a whole answer, a stream, and a tool call with its second step.
 */
const baseURL = `${process.env.TROUPE_URL}/v1`
const apiKey = process.env.TROUPE_KEY
const model = 'simulated-1'
const prompt = 'Please use get_weather in Lagos'
const check = (holds, what) => {
  if (!holds) throw new Error(`${what} (Node ${process.versions.node})`)
}

const tools = {
  get_weather: tool({
    description: 'The weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `sunny in ${city}`,
  }),
}
const [openAi, anthropic] = [createOpenAI({ baseURL, apiKey }), createAnthropic({ baseURL, apiKey })]
for (const [name, each] of Object.entries({
  'the Responses API': openAi(model),
  'chat completions': openAi.chat(model),
  'the Messages API': anthropic(model),
})) {
  check((await generateText({ model: each, prompt: 'Hello' })).text !== '', `${name}: no text`)
  const answered = await generateText({ model: each, tools, prompt, stopWhen: stepCountIs(3) })
  check(answered.text.includes('sunny in Lagos'), `${name}: the tool's result is not in the answer: ${answered.text}`)
  let said = ''
  for await (const part of streamText({ model: each, tools, prompt, stopWhen: stepCountIs(3) }).textStream) said += part
  check(said.includes('sunny in Lagos'), `${name}: a streamed tool's result is not in the answer: ${said}`)
}
