import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { say } from '#scripts/services/command.ts'
import { installPythonPackages } from '#scripts/services/python-packages.ts'
import { freePort } from '../everything-server.ts'

/** PYTHONPATH of the official SDK for Python; null if it cannot be installed: then its tests are skipped, but never in CI. */
export const mcpForPython = (): string | null => {
  try {
    return installPythonPackages('mcp-python', join(import.meta.dirname, 'requirements.txt'))
  } catch (error) {
    if (process.env.CI !== undefined) throw error
    say('The SDK of MCP for Python cannot be installed; its tests are skipped')
    return null
  }
}

/** Starts a server of the official SDK for Python in a separate process. */
export const startPythonServer = async (packages: string) => {
  const port = await freePort()
  const child = spawn('python3', ['-B', join(import.meta.dirname, 'server.py'), String(port)], {
    env: { ...process.env, PYTHONPATH: packages },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (text) => String(text).includes('running on') && resolve())
  })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}
