"""What agents have said already, judged number by number.

``formats`` reads a recorded run as turns, ``sources`` remembers the numbers that its user and its tools brought,
``judgement`` gives each number of an answer its verdict, ``audit`` combines them. The audit of one
conversation depends on nothing but that conversation.
"""
