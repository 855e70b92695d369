import type { ReactNode } from 'react'

export const metadata = { title: 'Chat', icons: 'data:,' }

const Layout = ({ children }: { readonly children: ReactNode }) => (
  <html lang="en">
    <body>{children}</body>
  </html>
)

export default Layout
