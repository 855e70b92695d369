import { createOpenAI } from '@ai-sdk/openai'
import { stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

/*
 * Vercel's AI SDK over the gateway: any model of the server by its name, streamed, with a tool. Usage, budgets, guardrails and
 * fallbacks are those of the key; `x-tenant-id` charges a tenant.
 */
const { TROUPE_URL = 'http://127.0.0.1:8080', TROUPE_KEY, MODEL = 'simulated-1' } = process.env
const gateway = createOpenAI({ baseURL: `${TROUPE_URL}/v1`, apiKey: TROUPE_KEY })

const { textStream } = streamText({
  model: gateway.chat(MODEL),
  prompt: 'Please use order_status for order 7, and say what it says.',
  tools: {
    order_status: tool({
      description: 'The status of an order',
      inputSchema: z.object({ order: z.string() }),
      execute: async ({ order }) => `Order ${order} is on its way.`,
    }),
  },
  stopWhen: stepCountIs(3),
})
for await (const text of textStream) process.stdout.write(text)
console.log()
