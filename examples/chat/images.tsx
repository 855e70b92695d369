import { Troupe } from '@troupe/client'
import { TroupeProvider, useMessages, useRun } from '@troupe/react'
import { MessageImage, useAttachments } from '@troupe/react/images'
import { createRoot } from 'react-dom/client'

const { baseUrl, agent_id } = document.body.dataset
const token = () => fetch('/token', { method: 'POST' }).then((answer) => answer.json())
const troupe = new Troupe({ baseUrl, token })

const shown = (part, at) => (part.type === 'image' ? <MessageImage key={at} part={part} alt="Sent image" /> : part.text)
const line = ({ id, parts }) => <li key={id}>{parts.map(shown)}</li>

const Chat = () => {
  const { images, error, add, remove, take } = useAttachments()
  const messages = useMessages()
  const { isIdle, send } = useRun()
  const submit = (event) => {
    event.preventDefault()
    send(take(new FormData(event.currentTarget).get('text')))
    event.currentTarget.reset()
  }
  const attached = (image) => (
    <button key={image.image_url} type="button" aria-label={`Remove ${image.name}`} onClick={() => remove(image)}>
      <MessageImage part={image} alt="" width="64" />
    </button>
  )
  return (
    <main>
      <ol aria-live="polite">{messages.map(line)}</ol>
      {images.map(attached)}
      <form onSubmit={submit}>
        <input name="text" aria-label="Message" onPaste={(event) => add(event.clipboardData.files)} />
        <input
          type="file"
          aria-label="Images"
          accept="image/*"
          multiple
          onChange={(event) => add(event.target.files)}
        />
        <button type="submit" disabled={!isIdle}>
          Send
        </button>
      </form>
      <p role="status">{error?.message}</p>
    </main>
  )
}

createRoot(document.getElementById('root')).render(
  <TroupeProvider client={troupe} session={location.hash.slice(1) || null} options={{ create: { agent_id } }}>
    <Chat />
  </TroupeProvider>,
)
