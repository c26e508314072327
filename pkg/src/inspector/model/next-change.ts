// Waiting for a change.

/** Resolves at the next change, or after some milliseconds. */
export async function nextChange(target: EventTarget, longest?: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = longest === undefined ? undefined : setTimeout(resolve, longest);
    const told = (): void => {
      clearTimeout(timer);
      resolve();
    };
    target.addEventListener('change', told, { once: true });
  });
}
