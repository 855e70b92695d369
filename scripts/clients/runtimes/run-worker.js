import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/* Starts workerd in this folder on a free port, and lets its worker talk to the server. */
const args = ['serve', 'worker.capnp', '--control-fd=3']
const workerd = spawn('node_modules/.bin/workerd', args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] })
try {
  const [line] = await once(createInterface(workerd.stdio[3]), 'line')
  const { port } = JSON.parse(line)
  const headers = { 'x-url': process.env.TROUPE_URL, 'x-key': process.env.TROUPE_KEY }
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers })
  const text = await answer.text()
  if (text !== 'ok') throw new Error(text)
} finally {
  workerd.kill()
}
