import { type Browser, chromium } from 'playwright'

let shared: Promise<Browser> | null = null

const isGone = async (browser: Promise<Browser>): Promise<boolean> => !(await browser).isConnected()

/**
 * The browser of this process for trusted pages, shared by all its test files: each uses its own contexts, which
 * `closePages` closes. Test machines have no GPU, so it is disabled.
 */
export const openBrowser = async (): Promise<Browser> => {
  // a browser that crashed under one file must not fail all later ones
  if (shared !== null && (await isGone(shared))) shared = null
  shared ??= launched(process.env.HEADLESS_SHELL_PATH)
  return shared
}

/**
 * Flags of a browser of trusted pages. Pages show no motion: the state of a chart pulses for ever, which without a GPU
 * keeps half a processor busy.
 */
const flags = ['--no-sandbox', '--disable-gpu', '--force-prefers-reduced-motion']

/** Opens the full Chromium with all features of a desktop browser. The caller closes it. */
export const openWholeBrowser = (): Promise<Browser> => launched(process.env.CHROMIUM_PATH)

/** Closes all contexts of a browser. */
export const closePages = async (browser: Browser): Promise<void> => {
  await Promise.all(browser.contexts().map((context) => context.close()))
}

const launched = (path = ''): Promise<Browser> => chromium.launch({ executablePath: path, args: flags })
