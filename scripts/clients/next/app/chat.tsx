'use client'

import { type ClientToken, pageFunctions, Troupe, textOf } from '@troupe/client'
import { Approval, TroupeProvider, useApprovals, useConnection, useMessages, useRun, useSession } from '@troupe/react'
import { useState } from 'react'

const functions = pageFunctions({
  issue_refund: { description: 'Pays an order back.', needsApproval: true, run: () => ({ receipt: 'r1' }) },
})

const Chat = () => {
  const session = useSession()
  const messages = useMessages()
  const approvals = useApprovals()
  const { send, isIdle } = useRun()
  const { status } = useConnection()
  return (
    <main data-session={session.id ?? 'new'}>
      <ol>
        {messages.map((message) => (
          <li key={message.id}>{textOf(message)}</li>
        ))}
      </ol>
      {approvals.map((action) => (
        <Approval key={action.action_id} action={action} data-action={action.action_id} />
      ))}
      <button type="button" disabled={!isIdle} onClick={() => send('Please use issue_refund for order 7')}>
        Send
      </button>
      <output>{status}</output>
    </main>
  )
}

export const App = ({ baseUrl }: { readonly baseUrl: string }) => {
  const token = (): Promise<ClientToken> => fetch('/token', { method: 'POST' }).then((answer) => answer.json())
  const [troupe] = useState(() => new Troupe({ baseUrl, token }))
  return (
    <TroupeProvider client={troupe} options={{ functions }}>
      <Chat />
    </TroupeProvider>
  )
}
