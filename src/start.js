import './start/require-node.js'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { endForArguments } from './start/start-arguments.js'

/*
 * Starts the server: from the bundle of all modules if one exists for exactly these sources, otherwise from the sources
 * one by one. A missing bundle, or code cache of it, is then made for the next start, in a separate process with the
 * lowest priority (specs/decisions/0115-starting.md). If nothing can be written,
 * every start is from the sources.
 */
endForArguments()

/** Uptime in ms after which the server is not about to be stopped, and has answered its first callers. */
const settledMs = 5_000

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

const { currentBundle, loadBundle } = await import('./start/bundle.js')

/**
 * Makes the bundle in a detached process that may outlive the server. V8's code cache is valid only for the Node
 * options it was made with.
 */
const makeBundle = () => {
  const { PATH, HOME, NODE_OPTIONS = '' } = process.env
  const options = process.execArgv.filter((option) => !/^--(inspect|cpu-prof|heap-prof)/.test(option))
  const args = [...options, `${root}/src/start/make-bundle.ts`, '--behind']
  spawn(process.execPath, args, { stdio: 'ignore', detached: true, env: { PATH, HOME, NODE_OPTIONS } })
    .on('error', () => undefined)
    .unref()
}

const bundle = currentBundle(root)
const loaded = bundle === null ? null : loadBundle(root, bundle)
const server = loaded === null ? await (await import('./start/sources.js')).loadSources(root) : loaded.run()
void server.run()
if (loaded?.isCompiled !== true) setTimeout(makeBundle, settledMs).unref()
