import { type Browser, chromium } from 'playwright'

let shared: Promise<Browser> | null = null

/**
 * The browser of this process for pages of our own, one for all test files that it runs: each has contexts of its own, which
 * `closePages` ends. There is no GPU on machines that test: none is looked for or imitated.
 */
export const openBrowser = (): Promise<Browser> => {
  shared ??= launched(process.env.HEADLESS_SHELL_PATH)
  return shared
}

/** The whole Chromium, with what a desktop browser does beside a page. To be closed. */
export const openWholeBrowser = (): Promise<Browser> => launched(process.env.CHROMIUM_PATH)

/** Ends what a file opened in the browser of this process. */
export const closePages = async (browser: Browser): Promise<void> => {
  await Promise.all(browser.contexts().map((context) => context.close()))
}

const launched = (path = ''): Promise<Browser> =>
  chromium.launch({ executablePath: path, args: ['--no-sandbox', '--disable-gpu'] })
