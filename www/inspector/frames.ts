// Waiting for what the browser does between two pictures of the page.

/** Resolves once the next frame has been laid out: what is measured then costs nothing, and stays as it is. */
export async function nextLayout(): Promise<void> {
  await new Promise(requestAnimationFrame);
  await new Promise((resolve) => setTimeout(resolve));
}
