"""What agents have said already, judged number by number.

``formats`` reads a recorded run as turns, ``sources`` remembers the numbers that its user and its tools brought,
``judgement`` says of each number of an answer what it rests on, ``audit`` puts it together. The audit of one
conversation depends on nothing but that conversation.
"""
