import { Troupe, textOf } from '@troupe/client'
import { Approval, TroupeProvider, useApprovals, useConnection, useMessages, useRun } from '@troupe/react'
import { memo } from 'react'
import { createRoot } from 'react-dom/client'

const { baseUrl, agent_id } = document.body.dataset
const token = () => fetch('/token', { method: 'POST' }).then((answer) => answer.json())
const troupe = new Troupe({ baseUrl, token })

const Line = memo(({ message }) => <li className={`${message.role} ${message.status}`}>{textOf(message)}</li>)
const line = (message) => <Line key={message.id} message={message} />
const approval = (action) => <Approval key={action.action_id} action={action} />

const Chat = () => {
  const messages = useMessages()
  const approvals = useApprovals()
  const { status, error } = useConnection()
  const { isIdle, send } = useRun()
  const submit = (event) => {
    event.preventDefault()
    send(new FormData(event.currentTarget).get('text'))
    event.currentTarget.reset()
  }
  return (
    <main>
      <ol aria-live="polite">{messages.map(line)}</ol>
      {approvals.map(approval)}
      <form onSubmit={submit}>
        <input name="text" aria-label="Message" disabled={!isIdle} required />
        <button type="submit" disabled={!isIdle}>
          Send
        </button>
      </form>
      <p role="status">{error?.message ?? status}</p>
    </main>
  )
}

createRoot(document.getElementById('root')).render(
  <TroupeProvider client={troupe} session={location.hash.slice(1) || null} options={{ create: { agent_id } }}>
    <Chat />
  </TroupeProvider>,
)
