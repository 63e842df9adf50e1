// What a person chose, kept for the next visit. In private mode nothing is kept, and nothing breaks.

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(`palpate.${key}`);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`palpate.${key}`, value);
  } catch {
    // it is asked or chosen again next time
  }
}
