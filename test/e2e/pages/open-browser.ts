import { type Browser, chromium } from 'playwright'

/** The Chromium of CHROMIUM_PATH, for pages of our own. There is no GPU on machines that test: none is looked for or imitated. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '', args: ['--no-sandbox', '--disable-gpu'] })
