import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPythonPackages } from '../services/python-packages.ts'
import { type ClientCheck, run } from './client-check.ts'

/**
 * Returns a check that runs a program of `python/` with the packages pinned in `python/<pins>.txt`. Each file of pins
 * is installed once.
 *
 * Compiled Python code is kept with the packages: a framework imports thousands of files, and several programs share
 * them.
 */
const checkOf =
  (pins: string, program: string): ClientCheck =>
  (world) => {
    const python = installPythonPackages(pins, join(import.meta.dirname, `python/${pins}.txt`))
    copyFileSync(join(import.meta.dirname, 'python', program), join(world.folder, 'turn.py'))
    // keeps frameworks from waiting for servers of their vendors
    const quiet = { LITELLM_LOCAL_MODEL_COST_MAP: 'true', HAYSTACK_TELEMETRY_ENABLED: 'false', DO_NOT_TRACK: '1' }
    run(world, 'python3', ['turn.py'], { PYTHONPATH: python, ...quiet })
  }

/** Agent frameworks that install numpy and many other packages, or need version 2 of OpenAI's SDK, by name. */
export const pythonFrameworks: Readonly<Record<string, ClientCheck>> = {
  litellm: checkOf('frameworks-openai-2', 'with_litellm.py'),
  dspy: checkOf('frameworks-openai-2', 'with_dspy.py'),
  'llama-index': checkOf('frameworks-openai-2', 'with_llama_index.py'),
  smolagents: checkOf('frameworks-more', 'with_smolagents.py'),
  haystack: checkOf('frameworks-more', 'with_haystack.py'),
  autogen: checkOf('frameworks-more', 'with_autogen.py'),
}
