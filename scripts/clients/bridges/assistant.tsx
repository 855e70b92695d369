import {
  type AssistantRuntime,
  AssistantRuntimeProvider,
  ThreadPrimitive,
  useExternalStoreRuntime,
} from '@assistant-ui/react'
import { pageFunctions } from '@troupe/client'
import { TroupeProvider } from '@troupe/react'
import { useAssistantUi } from '@troupe/react/assistant-ui'
import { createRoot } from 'react-dom/client'
import { openDocument } from './document.js'
import { check, troupe } from './server.js'

/* A thread of assistant-ui: it sends a message, a call waits, is approved, and its output is in the answer. */
const functions = pageFunctions({ issue_refund: { needsApproval: true, run: () => 'receipt-7' } })
let runtime: AssistantRuntime = Object(null)

const Thread = () => {
  runtime = useExternalStoreRuntime(useAssistantUi())
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root />
    </AssistantRuntimeProvider>
  )
}

const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 200 && !holds(); tries++) await new Promise((resolve) => setTimeout(resolve, 50))
  check(holds(), JSON.stringify(runtime.thread.getState().messages))
}
const last = () => runtime.thread.getState().messages.at(-1)
const call = () => last()?.content.find((part) => part.type === 'tool-call')
const text = () =>
  last()
    ?.content.map((part) => (part.type === 'text' ? part.text : ''))
    .join('') ?? ''

createRoot(openDocument()).render(
  <TroupeProvider client={troupe} options={{ functions }}>
    <Thread />
  </TroupeProvider>,
)
await until(() => runtime.thread !== undefined)
runtime.thread.append('Please use issue_refund for order 7')
await until(() => call()?.approval !== undefined && last()?.status?.type === 'requires-action')
const at = runtime.thread.getState().messages.length - 1
const part = runtime.thread.getMessageByIndex(at).getMessagePartByToolCallId(call()?.toolCallId ?? '')
await part.respondToToolApproval({ approved: true })
await until(() => last()?.status?.type === 'complete')
check(text().includes('receipt-7') && call()?.approval?.approved === true, JSON.stringify(last()))
Object(globalThis).process.exit(0)
