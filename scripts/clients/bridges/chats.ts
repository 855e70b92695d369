import { HttpAgent } from '@ag-ui/client'
import { Chat } from '@ai-sdk/react'
import { agUi } from '@troupe/client/ag-ui'
import { chatTransport } from '@troupe/client/ai'
import { api } from '@troupe/client/api'
import { lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from 'ai'
import { check, troupe } from './server.js'

/* A turn with `useChat`, which gives the output of a function of the page, and one with `HttpAgent`. */
const tools = [{ type: 'function', function: { name: 'get_city', parameters: { type: 'object' } } }]
const chat = new Chat<UIMessage>({
  transport: chatTransport(troupe, { body: { tools } }),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  onToolCall: ({ toolCall: { toolName: tool, toolCallId } }) =>
    void chat.addToolOutput({ tool, toolCallId, output: 'Porto' }),
  onError: (error) => {
    throw error
  },
})
const textOf = ({ parts }: UIMessage): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
await chat.sendMessage({ text: 'Please use get_city' })
for (let tries = 0; tries < 200 && !textOf(chat.lastMessage ?? Object({ parts: [] })).includes('Porto'); tries++)
  await new Promise((resolve) => setTimeout(resolve, 50))
check(textOf(chat.lastMessage ?? Object({ parts: [] })).includes('Porto'), JSON.stringify(chat.messages))

const { id } = await api(troupe).agents.create({ name: 'Help', config: { model: 'simulated-1' } })
const agent = new HttpAgent({ ...agUi(troupe, id), threadId: 'a-thread' })
agent.addMessage({ id: 'm1', role: 'user', content: 'reply exactly: Hello there.' })
await agent.runAgent()
check(agent.messages.at(-1)?.content === 'Hello there.', JSON.stringify(agent.messages))
